//! Translation layers kept for later runs of one program: all of each, down to the order of its lists, so that a run that begins with them is
//! the run that would have prepared them. Saved states ([`Ftl::save`]) are for other configurations and versions, and keep less.
//!
//! Format, compressed by zstd: of each drive both directions of its map and then all else as `postcard` writes it; a text; and a hash of all
//! that, keyed by the key. Only a program whose structs are the same can read it: the key must tell programs apart.

use std::io::{BufReader, Read, Write};

use super::Ftl;
use super::state::{Decoder, Encoder};
use ssdlab_keys::config::Config;
use ssdlab_keys::geometry::Geometry;

/// What a file of kept drives is for: 32 bytes, different for each program, configuration and seed.
pub type Key = [u8; 32];

/// Writes drives and a text. Only when no operation is under way.
///
/// # Errors
/// Any error of the writer; with a user-defined placement policy, of which nothing can be kept, always one.
pub fn keep(ftls: &[Ftl], text: &[u8], key: &Key, writer: impl Write) -> std::io::Result<()> {
    let mut encoder = Encoder::new(writer, blake3::Hasher::new_keyed(key))?;
    for ftl in ftls {
        let (forward, backward, _) = ftl.map.parts();
        encoder.array(forward)?;
        encoder.array(backward)?;
        encoder.text(&postcard::to_allocvec(ftl).map_err(std::io::Error::other)?)?;
    }
    encoder.text(text)?;
    encoder.finish()
}

/// Reads the drives of a configuration, and the text that [`keep`] wrote with them.
///
/// # Errors
/// A sentence that says why the bytes are not such drives, undamaged, under this key.
pub fn take_kept(config: &Config, key: &Key, reader: impl Read) -> Result<(Vec<Ftl>, Vec<u8>), String> {
    let mut decoder = Decoder::new(BufReader::new(reader), blake3::Hasher::new_keyed(key))?;
    let geometry = Geometry::new(config);
    let mut parts = Vec::new();
    for _ in 0..config.array.drives() {
        let forward = decoder.array(geometry.logical_units as usize)?;
        let backward = decoder.array(geometry.units as usize)?;
        parts.push((forward, backward, decoder.text()?));
    }
    let text = decoder.text()?;
    // Nothing is made of bytes that are not those that were written.
    decoder.finish()?;
    let drive = |(forward, backward, rest): (_, _, Vec<u8>)| {
        let mut ftl: Ftl = postcard::from_bytes(&rest).map_err(|error| error.to_string())?;
        ftl.map.give_entries(forward, backward);
        Ok::<_, String>(ftl)
    };
    Ok((parts.into_iter().map(drive).collect::<Result<_, _>>()?, text))
}
