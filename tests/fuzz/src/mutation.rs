//! Seeds with bytes changed, cut, doubled and mixed, and pieces of a dictionary put in. The same seed of chance makes
//! the same input.

use super::random::Random;

const CHANGES_MAX: usize = 6;
const BYTES_MAX: usize = 4_000;

/// One of the seeds, changed a few times.
pub(crate) fn mutated(random: &mut Random, seeds: &[Vec<u8>], words: &[&str]) -> Vec<u8> {
    let mut data = seed(random, seeds).to_vec();
    for _ in 0..random.below(CHANGES_MAX) {
        let at = random.below(data.len() + 1);
        let end = data.len().min(at + random.below(12));
        match random.below(7) {
            0 if at < data.len() => data[at] = random.byte(),
            1 if at < data.len() => data[at] ^= 1 << random.below(8),
            2 => drop(data.drain(at..end)),
            3 => {
                let again = data[at..end].to_vec();
                data.splice(at..at, again);
            }
            4 => {
                let other = seed(random, seeds);
                let from = random.below(other.len() + 1);
                let to = other.len().min(from + random.below(40));
                data.splice(at..end, other[from..to].iter().copied());
            }
            5 if random.below(40) == 0 => {
                let piece = random.pick(words).repeat(random.below(300));
                data.splice(at..at, piece.bytes());
            }
            _ => {
                let piece = random.pick(words).as_bytes().to_vec();
                data.splice(at..end, piece);
            }
        }
    }
    data.truncate(BYTES_MAX);
    data
}

fn seed<'a>(random: &mut Random, seeds: &'a [Vec<u8>]) -> &'a [u8] {
    match seeds.len() {
        0 => &[],
        count => &seeds[random.below(count)],
    }
}

/// The files of a folder, in the order of their names.
pub(crate) fn files(folder: &std::path::Path) -> Vec<Vec<u8>> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    let read = paths.iter().filter_map(|path| std::fs::read(path).ok());
    read.collect()
}
