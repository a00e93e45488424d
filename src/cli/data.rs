//! What is on disk: backups, exports, the ledger, stored reports, and what is known of a person.

pub(crate) mod backup;
pub(crate) mod export;
pub(crate) mod ledger;
pub(crate) mod person;
pub(crate) mod reports;
pub(crate) mod restore;
