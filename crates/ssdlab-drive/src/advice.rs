//! Hints about memory to the processor and the operating system. They change how fast a run is, never what it does. Only this module may
//! have `unsafe` code.

#![allow(unsafe_code, reason = "neither a prefetch nor advice about pages has a safe form in the standard library")]

/// Hints the processor to fetch an element into its cache, so that the fetches of several elements from memory overlap. No effect for an
/// index beyond the end, and on processors other than x86-64.
#[inline(always)]
pub fn prefetch<T>(array: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(element) = array.get(index) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 processor has the instruction, and it reads nothing that the program could observe.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(element).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (array, index);
}

/// Requests large pages of memory (2 MiB) from the operating system for an array that will be touched all over: random access then needs
/// fewer page faults and fewer walks of the page table. Memory that was touched before is gathered into large pages at once, if the kernel
/// can (Linux 6.1); other memory stays untouched. No effect on other systems, and where large pages are switched off.
pub fn use_huge_pages<T>(array: &mut [T]) {
    #[cfg(target_os = "linux")]
    {
        // Granularity for `madvise`: a multiple of the page size of every machine.
        const PAGE: usize = 1 << 16;
        let start = array.as_ptr().addr().next_multiple_of(PAGE);
        let end = (array.as_ptr().addr() + size_of_val(array)) / PAGE * PAGE;
        if end <= start {
            return;
        }
        for advice in [libc::MADV_HUGEPAGE, libc::MADV_COLLAPSE] {
            // SAFETY: the range lies within memory that this array owns, and neither advice changes what the memory holds. A kernel that
            // does not know or grant it returns an error, which changes nothing.
            unsafe { libc::madvise(std::ptr::without_provenance_mut(start), end - start, advice) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = array;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_index_may_be_asked_for() {
        let array = [1_u32, 2, 3];
        for index in [0, 2, 3, usize::MAX] {
            prefetch(&array, index);
        }
        prefetch::<u32>(&[], 0);
        assert_eq!(array, [1, 2, 3]);
    }

    /// Kilobytes of a field of `/proc/self/smaps`, of the mapping that holds an address.
    #[cfg(target_os = "linux")]
    fn kilobytes(field: &str, address: usize) -> u64 {
        let text = std::fs::read_to_string("/proc/self/smaps").expect("Linux tells what is mapped");
        let mut within = false;
        for line in text.lines() {
            let range = line.split_once(' ').and_then(|(range, _)| range.split_once('-'));
            let hex = |text| usize::from_str_radix(text, 16).ok();
            if let Some((start, end)) = range.and_then(|(start, end)| Some((hex(start)?, hex(end)?))) {
                within = (start..end).contains(&address);
            } else if within && let Some(rest) = line.strip_prefix(field) {
                return rest.trim_start_matches(':').trim().trim_end_matches(" kB").parse().expect("a number of kilobytes");
            }
        }
        panic!("no mapping with {field} holds the address {address:x}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn advice_keeps_content_and_touches_nothing() {
        const WORDS: usize = 16 << 20; // 64 MiB
        let mut array = vec![0_u32; WORDS];
        array[WORDS / 2] = 7;
        let before = kilobytes("Rss", array.as_ptr().addr() + 2 * WORDS);
        use_huge_pages(&mut array);
        let advised = kilobytes("Rss", array.as_ptr().addr() + 2 * WORDS);
        // At most the large page around the one that had been touched.
        assert!(advised <= before + 2048, "{before} kB became {advised} kB");
        assert_eq!((array[WORDS / 2], array[WORDS / 2 - 1]), (7, 0));
        let enabled = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
        if enabled.contains("[madvise]") || enabled.contains("[always]") {
            array[WORDS / 4] = 1;
            assert!(kilobytes("AnonHugePages", array.as_ptr().addr() + 2 * WORDS) > 0, "no large page was given");
        }
        use_huge_pages(&mut array[..3]);
        assert_eq!((array[WORDS / 2], array[WORDS / 4 + 1]), (7, 0));
    }
}
