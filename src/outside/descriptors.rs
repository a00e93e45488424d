//! How many files and sockets this process may have open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The most that the system lets this process have open at once, after asking for all that it may ask for; `None` is no
/// limit.
pub fn descriptors_max() -> Option<u64> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current == maximum {
        return current;
    }
    let all = Rlimit {
        current: maximum,
        maximum,
    };
    match setrlimit(Resource::Nofile, all) {
        Ok(()) => maximum,
        // Then what holds is what there was.
        Err(_) => current,
    }
}
