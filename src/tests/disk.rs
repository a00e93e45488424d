//! A disk in memory that forgets what was not synced when its power fails: all of it, some of it, or single sectors of
//! single writes. It can also lie about its syncs, and fail at its n-th operation.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use redb::StorageBackend;

use crate::sync::lock;
use crate::tests::dice::Dice;

/// What a disk writes as a whole or not at all.
const SECTOR_BYTES: usize = 512;

/// One operation that changes the file.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Write { at: usize, bytes: Arc<[u8]> },
    SetLength(usize),
    Sync,
}

/// Which of the writes since the last sync survive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Survivors {
    None,
    All,
    /// Some, in another order.
    Some,
    /// Some sectors of some.
    Torn,
}

impl Survivors {
    pub(crate) const ALL: [Survivors; 4] = [
        Survivors::None,
        Survivors::All,
        Survivors::Some,
        Survivors::Torn,
    ];
}

/// What goes wrong with a disk, counted in its operations.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Faults {
    /// The power fails at this operation.
    pub(crate) cut_at: Option<u64>,
    /// This operation fails.
    pub(crate) error_at: Option<u64>,
    /// And all that follow.
    pub(crate) error_stays: bool,
    /// Every so many syncs one is acknowledged and not done.
    pub(crate) lies_every: Option<u64>,
}

#[derive(Clone, Debug)]
pub(crate) struct Disk(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    /// What the running process reads.
    live: Vec<u8>,
    /// What the last true sync has left.
    durable: Vec<u8>,
    /// What has happened since.
    pending: Vec<Op>,
    /// Everything that has happened, where a test asks for it.
    log: Option<Vec<Op>>,
    operations: u64,
    syncs: u64,
    faults: Faults,
    dice: Dice,
    /// What is found when the power is back; there once it has failed.
    found: Option<Vec<u8>>,
}

impl Disk {
    pub(crate) fn of(bytes: Vec<u8>, faults: Faults, dice: Dice) -> Disk {
        Disk(Arc::new(Mutex::new(State {
            live: bytes.clone(),
            durable: bytes,
            pending: Vec::new(),
            log: None,
            operations: 0,
            syncs: 0,
            faults,
            dice,
            found: None,
        })))
    }

    /// An empty disk without faults.
    pub(crate) fn new() -> Disk {
        Disk::of(Vec::new(), Faults::default(), Dice::new(0))
    }

    /// Notes every operation from now on.
    pub(crate) fn keep_log(&self) {
        self.state().log = Some(Vec::new());
    }

    pub(crate) fn log(&self) -> Vec<Op> {
        self.state().log.clone().unwrap_or_default()
    }

    pub(crate) fn log_length(&self) -> usize {
        self.state().log.as_ref().map_or(0, Vec::len)
    }

    pub(crate) fn operations(&self) -> u64 {
        self.state().operations
    }

    /// From the next operation on, counted from here.
    pub(crate) fn set_faults(&self, faults: Faults) {
        let mut state = self.state();
        let from_here = |at: Option<u64>| at.map(|at| at + state.operations);
        state.faults = Faults {
            cut_at: from_here(faults.cut_at),
            error_at: from_here(faults.error_at),
            ..faults
        };
    }

    /// What the process would read now.
    pub(crate) fn live(&self) -> Vec<u8> {
        self.state().live.clone()
    }

    /// What is certain to be found after a loss of power.
    pub(crate) fn durable(&self) -> Vec<u8> {
        self.state().durable.clone()
    }

    /// The power fails now, unless it has failed before.
    pub(crate) fn cut(&self) {
        self.state().cut();
    }

    pub(crate) fn is_cut(&self) -> bool {
        self.state().found.is_some()
    }

    /// What is found after the power has failed.
    pub(crate) fn found(&self) -> Vec<u8> {
        self.state().found.clone().expect("the power has failed")
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.0)
    }
}

impl State {
    fn cut(&mut self) {
        if self.found.is_none() {
            let survivors = *self.dice.pick(&Survivors::ALL);
            self.found = Some(after_power_loss(
                self.durable.clone(),
                &self.pending,
                survivors,
                &mut self.dice,
            ));
        }
    }

    /// Counts an operation, and tells whether it takes place.
    fn begin(&mut self) -> io::Result<()> {
        self.operations += 1;
        if self.faults.cut_at.is_some_and(|at| self.operations >= at) {
            self.cut();
        }
        let fails = match self.faults.error_at {
            Some(at) if self.faults.error_stays => self.operations >= at,
            Some(at) => self.operations == at,
            None => false,
        };
        if fails || self.found.is_some() {
            return Err(io::Error::other("the disk has failed"));
        }
        Ok(())
    }

    fn note(&mut self, op: Op) {
        if let Some(log) = &mut self.log {
            log.push(op.clone());
        }
        match op {
            Op::Sync => {
                self.syncs += 1;
                let lies = self.faults.lies_every;
                if lies.is_some_and(|every| self.syncs.is_multiple_of(every)) {
                    return;
                }
                for op in std::mem::take(&mut self.pending) {
                    apply(&mut self.durable, &op);
                }
            }
            op => {
                apply(&mut self.live, &op);
                self.pending.push(op);
            }
        }
    }
}

fn apply(file: &mut Vec<u8>, op: &Op) {
    match op {
        Op::Write { at, bytes } => {
            let end = at + bytes.len();
            if file.len() < end {
                file.resize(end, 0);
            }
            file[*at..end].copy_from_slice(bytes);
        }
        Op::SetLength(length) => file.resize(*length, 0),
        Op::Sync => {}
    }
}

/// What is found on a disk whose power failed with `pending` not synced.
pub(crate) fn after_power_loss(
    mut durable: Vec<u8>,
    pending: &[Op],
    survivors: Survivors,
    dice: &mut Dice,
) -> Vec<u8> {
    let mut kept: Vec<Op> = match survivors {
        Survivors::None => Vec::new(),
        Survivors::All => pending.to_vec(),
        Survivors::Some | Survivors::Torn => {
            let kept = pending.iter().filter(|_| dice.percent(50));
            kept.cloned().collect()
        }
    };
    if survivors == Survivors::Some {
        for end in (2..=kept.len()).rev() {
            let place = usize::try_from(dice.below(end as u64)).expect("a place in a list");
            kept.swap(end - 1, place);
        }
    }
    for op in &kept {
        match op {
            Op::Write { at, bytes } if survivors == Survivors::Torn => {
                for (number, sector) in bytes.chunks(SECTOR_BYTES).enumerate() {
                    if dice.percent(50) {
                        let at = at + number * SECTOR_BYTES;
                        let bytes = sector.into();
                        apply(&mut durable, &Op::Write { at, bytes });
                    }
                }
            }
            op => apply(&mut durable, op),
        }
    }
    durable
}

fn place(at: u64) -> usize {
    usize::try_from(at).expect("a file that fits into memory")
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.state().live.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let state = self.state();
        let beginning = place(offset);
        let bytes = state.live.get(beginning..beginning + out.len());
        out.copy_from_slice(bytes.ok_or_else(|| io::Error::other("beyond the end"))?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut state = self.state();
        state.begin()?;
        state.note(Op::SetLength(place(len)));
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut state = self.state();
        state.begin()?;
        state.note(Op::Sync);
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut state = self.state();
        state.begin()?;
        state.note(Op::Write {
            at: place(offset),
            bytes: data.into(),
        });
        Ok(())
    }
}
