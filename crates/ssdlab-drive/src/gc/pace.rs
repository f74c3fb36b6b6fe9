//! Pacing (`gc.pace`): the credit that collection earns, and that host writes take. docs/model/pacing.md.
//!
//! Each pool has an account; with dynamic allocation, where the pool of a write is not known when it comes in, the drive has one. Accounts
//! are in pages of data, or in mapping units where these are smaller.
//!
//! With `gc.pace = "room"` no write waits for credit. Each pool has an account of what its programs owe: the less room the pool has, the more.

use ssdlab_base::units::PoolId;

/// What the job of a pool has earned so far.
#[derive(Clone, Copy, Debug, Default)]
struct Earned {
    /// Pages that the erase of its victim makes free.
    pages: u32,
    /// Valid pages of its victim when it started.
    valid: u32,
    moved: u32,
    credit: i64,
    /// Its victim is not erased yet.
    is_ahead: bool,
}

/// What is left to do for the victims of a pool whose jobs have started, pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ahead {
    /// Pages to move.
    pub to_move: i64,
    /// Pages that the jobs gain, less those that page moves have earned already.
    pub due: i64,
    /// Valid pages of the victim when its job started.
    pub valid: i64,
    /// Pages that the erase of the victim makes free.
    pub pages: i64,
}

/// With `gc.pace = "room"`: upper bound of [`Pace::rate`], pages freed by GC for each page that the host programs.
const FASTEST: i64 = 16;

/// A whole page in the accounts of [`Pace::owes`].
pub const WHOLE: i64 = 1 << 16;

/// The accounts of a drive that paces its writes.
#[derive(Clone, Debug)]
pub struct Pace {
    /// The most credit that an account may have.
    window: i64,
    /// The drive has one account, not one for each pool.
    by_drive: bool,
    credit: Vec<i64>,
    /// With `gc.pace = "room"`, by pool: what its programs owe, in parts of [`WHOLE`]; below 0, what was earned and not yet used. Else empty.
    owed: Vec<i64>,
    /// With `gc.pace = "room"`: number of host pages for which a pool may lack free pages, as they wait in the write buffer. At most `window`; 0 without
    /// a buffer.
    buffered: i64,
    /// With `gc.pace = "room"`: number of page moves for each host page from which [`Pace::rate`] follows; 0: that rate is 1.
    moves: i64,
    /// By account: pages of writes that have come in and have no page in flash yet. Not counted with a write buffer.
    let_in: Vec<u32>,
    /// By account: number of its pools that are short of free blocks. With 0 the account is full.
    short: Vec<u32>,
    /// By pool: it is short of free blocks.
    is_short: Vec<bool>,
    jobs: Vec<Earned>,
    /// By pool: what the job has earned whose victim waits.
    waiting: Vec<Earned>,
    /// The account for whose credit a write waits.
    awaited: Option<u32>,
    /// A planted defect: credit that is earned counts twice.
    counts_twice: bool,
}

impl Pace {
    /// Full accounts. `window`: the most that writes may take of a pool ahead of its collection, pages.
    pub fn new(pools: u32, window: i64, by_drive: bool) -> Self {
        let window = if by_drive { window * i64::from(pools) } else { window };
        Pace {
            window,
            by_drive,
            credit: vec![window; if by_drive { 1 } else { pools as usize }],
            owed: Vec::new(),
            buffered: 0,
            moves: 0,
            let_in: vec![0; if by_drive { 1 } else { pools as usize }],
            short: vec![0; if by_drive { 1 } else { pools as usize }],
            is_short: vec![false; pools as usize],
            jobs: vec![Earned::default(); pools as usize],
            waiting: vec![Earned::default(); pools as usize],
            awaited: None,
            counts_twice: false,
        }
    }

    /// Accounts for `gc.pace = "room"`. `window`: number of free pages of a pool over which the page moves for each host page rise from none. `buffered`:
    /// number of host pages for which a pool may lack free pages, as they wait in the write buffer (0 without a buffer); more than a window counts
    /// as a window. `moves`: number of page moves for each host page from which [`Pace::rate`] follows; 0: that rate is 1.
    pub fn by_room(pools: u32, window: i64, buffered: i64, moves: i64) -> Self {
        Pace { owed: vec![0; pools as usize], buffered: buffered.min(window), moves, ..Pace::new(pools, window, false) }
    }

    /// Programs owe what the room of their pool says, and no write waits for credit.
    #[inline(always)]
    pub fn is_by_room(&self) -> bool {
        !self.owed.is_empty()
    }

    /// Pages that GC frees for each page that the host programs, where free pages just suffice for the GC jobs `ahead`: r of docs/model/pacing.md, "By
    /// room", in parts of [`WHOLE`]. From 1 to [`FASTEST`] pages.
    pub fn rate(&self, ahead: Ahead) -> i64 {
        (self.moves * WHOLE * (ahead.pages - ahead.valid) / ahead.valid.max(1)).clamp(WHOLE, FASTEST * WHOLE)
    }

    /// Pages that GC has to free for each page that the host programs now: g of docs/model/pacing.md, "By room", in parts of [`WHOLE`]. `due`: pages that
    /// GC jobs free until they end. `room`: free pages that the host can program until then. `pools`: number of pools that both are summed over.
    /// `rate`: of [`Pace::rate`].
    pub fn share(&self, due: i64, room: i64, pools: i64, rate: i64) -> i64 {
        let (window, due) = (pools * self.window, due - pools * self.buffered);
        let short = (due + window) * WHOLE - rate * room;
        (short.max(0) / window).min(2 * WHOLE) * rate / WHOLE
    }

    /// The programs of a pool owe moves to its job.
    #[inline(always)]
    pub fn is_owed(&self, pool: PoolId) -> bool {
        self.owed.get(pool.index()).is_some_and(|&owed| owed > 0)
    }

    /// The host begins to program `pages`. For each, GC has to free `share` pages, in parts of [`WHOLE`], before the next write to the die.
    pub fn owes(&mut self, pool: PoolId, pages: u32, share: i64) {
        self.owed[pool.index()] += i64::from(pages) * share;
        self.limit_debt(pool);
    }

    /// Limits the pages that GC has to free in a pool before the next write to its die: to those that its GC jobs, and one more like them, free. Has no
    /// effect between two jobs.
    fn limit_debt(&mut self, pool: PoolId) {
        let Ahead { due, valid, pages, .. } = self.ahead(pool);
        if let Some(owed) = self.owed.get_mut(pool.index()).filter(|_| pages > 0) {
            *owed = (*owed).min((due.max(0) + pages - valid) * WHOLE);
        }
    }

    /// What the jobs of a pool still have to do.
    pub fn ahead(&self, pool: PoolId) -> Ahead {
        let jobs = [self.waiting[pool.index()], self.jobs[pool.index()]];
        jobs.iter().filter(|job| job.is_ahead).fold(Ahead::default(), |sum, job| {
            let (pages, valid) = (i64::from(job.pages), i64::from(job.valid));
            Ahead { to_move: sum.to_move + (valid - i64::from(job.moved)).max(0), due: sum.due + pages - valid - job.credit, valid, pages }
        })
    }

    /// The drive has one account, not one for each pool.
    pub fn is_by_drive(&self) -> bool {
        self.by_drive
    }

    /// The account of a pool.
    #[inline]
    fn account(&self, pool: PoolId) -> u32 {
        if self.by_drive { 0 } else { pool.0 }
    }

    /// The credit of a pool's account.
    pub fn credit(&self, pool: PoolId) -> i64 {
        self.credit[self.account(pool) as usize]
    }

    /// Sets whether a pool has fewer free blocks than it wants. When its account is no longer full because of that, pages that came in
    /// before and have no page in flash yet are deducted from it, down to 0.
    pub fn set_short(&mut self, pool: PoolId, short: bool) {
        let account = self.account(pool) as usize;
        if self.is_by_room() && !short {
            self.owed[pool.index()] = 0;
        }
        let was = std::mem::replace(&mut self.is_short[pool.index()], short);
        let full = self.short[account] == 0;
        self.short[account] = self.short[account] + u32::from(short) - u32::from(was);
        if self.short[account] == 0 {
            self.credit[account] = self.window;
        } else if full {
            self.credit[account] = (self.window - i64::from(self.let_in[account])).max(0);
        }
    }

    /// A page of a write to a pool comes in.
    #[inline]
    pub fn comes_in(&mut self, pool: PoolId) {
        let account = self.account(pool) as usize;
        self.let_in[account] += 1;
    }

    /// A page of a write to a pool that has come in is given a page in flash.
    #[inline]
    pub fn is_placed(&mut self, pool: PoolId) {
        let account = self.account(pool) as usize;
        self.let_in[account] = self.let_in[account].saturating_sub(1);
    }

    /// Pages of writes that have come in and have no page in flash yet.
    pub fn let_in(&self) -> u64 {
        self.let_in.iter().map(|&pages| u64::from(pages)).sum()
    }

    /// Takes credit for a page to be written to a pool. Returns false if there is none; a full account stays full.
    #[inline]
    pub fn take(&mut self, pool: PoolId) -> bool {
        let account = self.account(pool) as usize;
        if self.short[account] == 0 {
            return true;
        }
        let has = self.credit[account] > 0;
        self.credit[account] -= i64::from(has);
        has
    }

    /// A page that is to be written to a pool could take credit, or needs none.
    #[inline]
    pub fn can_take(&self, pool: PoolId) -> bool {
        let account = self.account(pool) as usize;
        self.short[account] == 0 || self.credit[account] > 0
    }

    /// Takes credit for `pages` of a pool that are padding. `owes`: what exceeds the credit becomes a debt; else the credit stops at 0.
    pub fn use_up(&mut self, pool: PoolId, pages: u32, owes: bool) {
        let account = self.account(pool) as usize;
        if self.short[account] == 0 {
            return;
        }
        let left = self.credit[account] - i64::from(pages);
        self.credit[account] = if owes { left } else { left.max(self.credit[account].min(0)) };
    }

    /// Call when the pool's job starts, with `valid` pages to move out of a block whose erase makes `pages` free.
    pub fn job_starts(&mut self, pool: PoolId, pages: u32, valid: u32) {
        self.jobs[pool.index()] = Earned { pages, valid, is_ahead: true, ..Earned::default() };
        self.limit_debt(pool);
    }

    /// Earns credit for `pages` more that the pool's job has moved: each earns its share of the pages that its victim gains.
    pub fn moved(&mut self, pool: PoolId, pages: u32) {
        let job = &mut self.jobs[pool.index()];
        job.moved += pages;
        let (moved, valid) = (i64::from(job.moved.min(job.valid)), i64::from(job.valid));
        // Computed from the sum of the moves, so that no remainder is lost.
        let due = if valid > 0 { moved * (i64::from(job.pages) - valid) / valid } else { 0 };
        self.earns_up_to(pool, due);
    }

    /// The job of the pool ends, and its victim waits.
    pub fn leaves(&mut self, pool: PoolId) {
        self.exchange(pool);
    }

    /// The job of the pool takes up the victim that waits.
    pub fn taken_up(&mut self, pool: PoolId) {
        self.exchange(pool);
    }

    /// What concerns the pool's job concerns the one whose victim waits from now on, and the other way round.
    pub fn exchange(&mut self, pool: PoolId) {
        std::mem::swap(&mut self.jobs[pool.index()], &mut self.waiting[pool.index()]);
    }

    /// `pages` more were moved out of the pool's waiting victim.
    pub fn moved_out_of_waiting(&mut self, pool: PoolId, pages: u32) {
        self.exchange(pool);
        self.moved(pool, pages);
        self.exchange(pool);
    }

    /// Pages that the pool's job has moved.
    pub fn moved_by(&self, pool: PoolId) -> u32 {
        self.jobs[pool.index()].moved
    }

    /// Earns the rest when the victim is erased, also for valid pages that needed no move after all. Returns the credit of the whole job.
    pub fn erased(&mut self, pool: PoolId) -> i64 {
        let job = self.jobs[pool.index()];
        self.earns_up_to(pool, i64::from(job.pages) - i64::from(job.moved));
        self.jobs[pool.index()].is_ahead = false;
        self.jobs[pool.index()].credit
    }

    /// Call when the victim is retired, and frees nothing: takes back what its moves have earned, and the pages that these took. Returns the
    /// credit of the whole job, below 0.
    pub fn retired(&mut self, pool: PoolId) -> i64 {
        let job = self.jobs[pool.index()];
        self.earns_up_to(pool, -i64::from(job.moved));
        self.jobs[pool.index()].is_ahead = false;
        self.jobs[pool.index()].credit
    }

    fn earns_up_to(&mut self, pool: PoolId, due: i64) {
        let account = self.account(pool) as usize;
        let job = &mut self.jobs[pool.index()];
        let more = if self.counts_twice { 2 * due } else { due } - job.credit;
        job.credit += more;
        if let Some(owed) = self.owed.get_mut(pool.index()) {
            // A move may pay more than is owed: the rest is kept. Pages earned while the host does not write are room, not credit.
            let paid = more.max(0) * WHOLE;
            if paid > 0 {
                *owed = (*owed - paid).max(-paid);
            }
            return;
        }
        self.credit[account] = (self.credit[account] + more).min(self.window);
    }

    /// Sets the account for whose credit a write waits: that of `pool`, or none. Returns false if it was the same before.
    pub fn awaits(&mut self, pool: Option<PoolId>) -> bool {
        let account = pool.map(|pool| self.account(pool));
        std::mem::replace(&mut self.awaited, account) != account
    }

    /// A write waits for credit of the pool's account.
    #[inline(always)]
    pub fn is_awaited(&self, pool: PoolId) -> bool {
        self.awaited == Some(self.account(pool))
    }

    /// A write waits for credit of any account, and the pool's account is not full.
    pub fn may_be_wanted(&self, pool: PoolId) -> bool {
        self.awaited.is_some() && self.credit(pool) < self.window
    }

    /// At least half of a full account is left to the writes of a pool.
    pub fn has_half(&self, pool: PoolId) -> bool {
        2 * self.credit(pool) >= self.window
    }

    /// Plants a defect: credit that is earned counts twice.
    #[doc(hidden)]
    pub fn count_twice(&mut self) {
        self.counts_twice = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POOL: PoolId = PoolId(0);

    /// One pool that is short of free blocks and has no credit left. Blocks have 10 pages.
    fn empty() -> Pace {
        let mut pace = Pace::new(1, 100, false);
        pace.set_short(POOL, true);
        (0..100).for_each(|_| assert!(pace.take(POOL)));
        pace
    }

    /// Blocks of 10 pages, of which 7 are valid: moves earn 3/7 each, so 0, 0, 1, 1, 2, 2, 3 after one to seven.
    #[test]
    fn moves_earn_their_share_and_lose_no_remainder() {
        let mut pace = empty();
        assert!(!pace.take(POOL));
        pace.job_starts(POOL, 10, 7);
        let credit = [1; 7].map(|page| {
            pace.moved(POOL, page);
            pace.credit(POOL)
        });
        assert_eq!(credit, [0, 0, 1, 1, 2, 2, 3]);
        assert_eq!((pace.erased(POOL), pace.credit(POOL)), (3, 3));
    }

    /// Of 7 valid pages two are overwritten before their moves: 5 moves earn 2, the erase the other 3. Without valid pages the erase earns
    /// all 10.
    #[test]
    fn the_erase_earns_what_need_not_be_moved() {
        let mut pace = empty();
        pace.job_starts(POOL, 10, 7);
        pace.moved(POOL, 5);
        assert_eq!(pace.credit(POOL), 2);
        assert_eq!((pace.erased(POOL), pace.credit(POOL)), (5, 5));
        pace.job_starts(POOL, 10, 0);
        assert_eq!((pace.erased(POOL), pace.credit(POOL)), (10, 15));
        pace.set_short(POOL, false);
        (0..200).for_each(|_| assert!(pace.take(POOL)));
        assert_eq!(pace.credit(POOL), 100, "the pool has what it wants");
    }

    /// Of 7 valid pages of 10 five are moved, which earns 2. A block that is retired frees nothing: the 2 are taken back, and the 5 pages that the
    /// moves have taken.
    #[test]
    fn a_retired_block_earns_nothing() {
        let mut pace = empty();
        pace.job_starts(POOL, 10, 7);
        pace.moved(POOL, 5);
        assert_eq!((pace.retired(POOL), pace.credit(POOL)), (-5, -5));
        assert!(!pace.take(POOL));
    }

    #[test]
    fn credit_is_limited_and_padding_is_owed_only_while_it_is_earned() {
        let mut pace = Pace::new(2, 4, true);
        assert_eq!(pace.credit(PoolId(1)), 8);
        pace.use_up(POOL, 9, true);
        assert_eq!(pace.credit(POOL), 8, "no pool is short");
        pace.set_short(PoolId(1), true);
        pace.use_up(POOL, 9, false);
        assert_eq!(pace.credit(POOL), 0);
        pace.use_up(POOL, 3, true);
        pace.use_up(POOL, 3, false);
        assert_eq!(pace.credit(POOL), -3);
        pace.job_starts(PoolId(1), 10, 5);
        pace.moved(PoolId(1), 5);
        assert_eq!(pace.credit(POOL), 2);
        pace.job_starts(PoolId(1), 10, 0);
        pace.erased(PoolId(1));
        assert_eq!(pace.credit(POOL), 8);
    }

    /// When the pool becomes short, 30 pages have come in and have no page in flash: 70 of a window of 100 are left. With more pages than
    /// the window the account is empty, without a debt: the first page that is earned lets a write in.
    #[test]
    fn what_came_in_while_the_account_was_full_takes_of_the_window() {
        let mut pace = Pace::new(1, 100, false);
        (0..40).for_each(|_| assert!(pace.take(POOL)));
        (0..40).for_each(|_| pace.comes_in(POOL));
        (0..10).for_each(|_| pace.is_placed(POOL));
        assert_eq!((pace.credit(POOL), pace.let_in()), (100, 30));
        pace.set_short(POOL, true);
        assert_eq!(pace.credit(POOL), 70);
        pace.set_short(POOL, true);
        assert_eq!(pace.credit(POOL), 70, "it was short before");
        pace.set_short(POOL, false);
        (0..100).for_each(|_| pace.comes_in(POOL));
        pace.set_short(POOL, true);
        assert_eq!(pace.credit(POOL), 0);
    }

    /// A page owes nothing while the room is what is due and the window, a whole one if it is what is due, and two at most. With a buffer for 20 pages
    /// that much less is due. Where moves earn four pages each as easily as one, it owes four with a quarter of the room.
    #[test]
    fn what_a_page_owes_rises_as_room_sinks() {
        let (bare, buffered) = (Pace::by_room(1, 40, 0, 0), Pace::by_room(1, 40, 20, 0));
        assert_eq!([200, 140, 120, 100, 80, 60, 0].map(|room| 2 * bare.share(100, room, 1, WHOLE) / WHOLE), [0, 0, 1, 2, 3, 4, 4]);
        assert_eq!([120, 80, 0].map(|room| buffered.share(100, room, 1, WHOLE) / WHOLE), [0, 1, 2]);
        assert_eq!([60, 30, 25, 20, 0].map(|room| buffered.share(100, room, 1, 4 * WHOLE) / WHOLE), [0, 0, 2, 4, 8]);
        assert_eq!(Pace::by_room(2, 20, 10, 0).share(100, 80, 2, WHOLE) / WHOLE, 1, "two pools have twice of both");
        assert_eq!(Pace::by_room(1, 40, 900, 0).share(100, 60, 1, WHOLE) / WHOLE, 1, "a large buffer counts as much as the window");
    }

    /// Six moves of a victim with a valid page in two earn six pages, of one with three in four two; one whose moves earn less than a sixth of a
    /// page still earns a page for each that the host programs, and one without valid pages 16. Without a buffer each earns one.
    #[test]
    fn jobs_that_are_cheap_may_earn_faster() {
        let (pace, bare) = (Pace::by_room(1, 40, 20, 6), Pace::by_room(1, 40, 0, 0));
        let ahead = |valid| Ahead { pages: 12, valid, ..Ahead::default() };
        assert_eq!([6, 9, 11, 0].map(|valid| pace.rate(ahead(valid)) / WHOLE), [6, 2, 1, 16]);
        assert_eq!([6, 9, 11, 0].map(|valid| bare.rate(ahead(valid)) / WHOLE), [1; 4]);
    }

    /// A pool owes one page and a half. Its job of 10 pages, of which 5 are valid, earns one with a move, and two at once with the next two, of which
    /// one and a half are kept. It owes no more than its job and another like it earn, and nothing once it is not short any more.
    #[test]
    fn moves_pay_what_a_pool_owes() {
        let mut pace = Pace::by_room(2, 1, 0, 0);
        [POOL, PoolId(1)].into_iter().for_each(|pool| pace.set_short(pool, true));
        pace.job_starts(POOL, 10, 5);
        assert_eq!(pace.ahead(POOL), Ahead { to_move: 5, due: 5, valid: 5, pages: 10 });
        pace.owes(POOL, 3, WHOLE / 2);
        pace.moved(POOL, 1);
        assert_eq!((pace.owed[0], pace.is_owed(POOL), pace.is_owed(PoolId(1))), (WHOLE / 2, true, false));
        pace.moved(POOL, 2);
        assert_eq!((pace.owed[0], pace.is_owed(POOL)), (-3 * WHOLE / 2, false));
        assert_eq!(pace.ahead(POOL), Ahead { to_move: 2, due: 2, valid: 5, pages: 10 });
        pace.moved(POOL, 1);
        assert_eq!(pace.owed[0], -WHOLE, "no more is kept than was earned at once");
        pace.erased(POOL);
        assert_eq!(pace.ahead(POOL), Ahead::default());
        pace.job_starts(POOL, 10, 8);
        pace.owes(POOL, 9, WHOLE);
        assert_eq!(pace.owed[0], 4 * WHOLE, "no more than this job and another earn");
        pace.job_starts(POOL, 10, 10);
        assert!(!pace.is_owed(POOL), "moves of this job earn nothing");
        pace.job_starts(POOL, 10, 5);
        pace.owes(POOL, 9, WHOLE);
        pace.set_short(POOL, false);
        assert!(!pace.is_owed(POOL));
    }

    #[test]
    fn who_waits_is_one_account() {
        let mut pace = Pace::new(2, 4, false);
        assert!(pace.awaits(Some(PoolId(1))) && !pace.awaits(Some(PoolId(1))));
        assert_eq!([0, 1].map(|pool| pace.is_awaited(PoolId(pool))), [false, true]);
        assert!(pace.awaits(None) && !pace.is_by_drive());
        let mut pace = Pace::new(2, 4, true);
        pace.awaits(Some(PoolId(1)));
        assert_eq!([0, 1].map(|pool| pace.is_awaited(PoolId(pool))), [true, true]);
        assert!(pace.is_by_drive());
    }
}
