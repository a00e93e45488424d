//! Locks.

use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Locks a mutex, also one whose holder panicked. What it guards must be whole between any two operations on it: no holder
/// here changes it in steps that a panic could separate.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The same for reading what has one writer at a time.
pub fn read_lock<T>(held: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    held.read().unwrap_or_else(PoisonError::into_inner)
}

/// The same for writing it.
pub fn write_lock<T>(held: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    held.write().unwrap_or_else(PoisonError::into_inner)
}
