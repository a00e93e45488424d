//! Commands for operating a running service.

pub(crate) mod console;
pub(crate) mod leads;
pub(crate) mod mail;
pub(crate) mod orders;
pub(crate) mod pause;
pub(crate) mod payments;
pub(crate) mod tls;
pub(crate) mod webhook;
