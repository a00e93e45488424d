//! The engine's depth is the one that packs name.

use crate::domain::depth as domain;
use crate::evidence::Depth;

impl From<domain::Depth> for Depth {
    fn from(depth: domain::Depth) -> Depth {
        match depth {
            domain::Depth::Quick => Depth::Quick,
            domain::Depth::Standard => Depth::Standard,
            domain::Depth::Deep => Depth::Deep,
        }
    }
}

impl From<Depth> for domain::Depth {
    fn from(depth: Depth) -> domain::Depth {
        match depth {
            Depth::Quick => domain::Depth::Quick,
            Depth::Standard => domain::Depth::Standard,
            Depth::Deep => domain::Depth::Deep,
        }
    }
}
