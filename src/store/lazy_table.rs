//! A table of a transaction that is opened when it is first used. There are many tables and a job needs few of them;
//! opening and closing each costs more than a record.

use std::borrow::Borrow;
use std::cell::OnceCell;
use std::ops::{Bound, RangeBounds};
use std::rc::Rc;

use redb::{
    AccessGuard, Key, Range, ReadOnlyTable, ReadTransaction, ReadableTable,
    ReadableTableMetadata as _, Table, TableDefinition, TableError, Value, WriteTransaction,
};
use serde::de::DeserializeOwned;

use crate::store::StoreError;
use crate::store::record::decode;

/// A transaction of redb, the writer's or a reader's: it opens tables.
pub trait Transaction {
    type Table<K: Key + 'static, V: Value + 'static>: ReadableTable<K, V>;

    fn open<K: Key + 'static, V: Value + 'static>(
        &self,
        definition: TableDefinition<'static, K, V>,
    ) -> Result<Self::Table<K, V>, TableError>;
}

impl<'txn> Transaction for &'txn WriteTransaction {
    type Table<K: Key + 'static, V: Value + 'static> = Table<'txn, K, V>;

    fn open<K: Key + 'static, V: Value + 'static>(
        &self,
        definition: TableDefinition<'static, K, V>,
    ) -> Result<Table<'txn, K, V>, TableError> {
        self.open_table(definition)
    }
}

impl Transaction for Rc<ReadTransaction> {
    type Table<K: Key + 'static, V: Value + 'static> = ReadOnlyTable<K, V>;

    fn open<K: Key + 'static, V: Value + 'static>(
        &self,
        definition: TableDefinition<'static, K, V>,
    ) -> Result<ReadOnlyTable<K, V>, TableError> {
        self.open_table(definition)
    }
}

pub(in crate::store) struct LazyTable<T: Transaction, K: Key + 'static, V: Value + 'static> {
    transaction: T,
    definition: TableDefinition<'static, K, V>,
    table: OnceCell<T::Table<K, V>>,
}

type Found<'a, V> = Result<Option<AccessGuard<'a, V>>, StoreError>;
type Row<'a, K, V> = Result<Option<(AccessGuard<'a, K>, AccessGuard<'a, V>)>, StoreError>;

impl<T: Transaction, K: Key + 'static, V: Value + 'static> LazyTable<T, K, V> {
    pub(in crate::store) fn new(
        transaction: T,
        definition: TableDefinition<'static, K, V>,
    ) -> Self {
        LazyTable {
            transaction,
            definition,
            table: OnceCell::new(),
        }
    }

    fn table(&self) -> Result<&T::Table<K, V>, StoreError> {
        if let Some(table) = self.table.get() {
            return Ok(table);
        }
        let table = self.transaction.open(self.definition)?;
        Ok(self.table.get_or_init(|| table))
    }

    pub(in crate::store) fn get<'k>(&self, key: impl Borrow<K::SelfType<'k>>) -> Found<'_, V> {
        Ok(self.table()?.get(key)?)
    }

    pub(in crate::store) fn range<'k, R: Borrow<K::SelfType<'k>> + 'k>(
        &self,
        range: impl RangeBounds<R> + 'k,
    ) -> Result<Range<'_, K, V>, StoreError> {
        Ok(self.table()?.range(range)?)
    }

    pub(in crate::store) fn iter(&self) -> Result<Range<'_, K, V>, StoreError> {
        Ok(self.table()?.iter()?)
    }

    pub(in crate::store) fn len(&self) -> Result<u64, StoreError> {
        Ok(self.table()?.len()?)
    }

    pub(in crate::store) fn first(&self) -> Row<'_, K, V> {
        Ok(self.table()?.first()?)
    }

    pub(in crate::store) fn last(&self) -> Row<'_, K, V> {
        Ok(self.table()?.last()?)
    }
}

impl<T: Transaction, K: Key + 'static> LazyTable<T, K, &'static [u8]> {
    /// The record of a key; `name` is the table's, for an error.
    pub(in crate::store) fn record<'k, R: DeserializeOwned>(
        &self,
        key: impl Borrow<K::SelfType<'k>>,
        name: &'static str,
    ) -> Result<Option<R>, StoreError> {
        let bytes = self.get(key)?;
        bytes.map(|bytes| decode(bytes.value(), name)).transpose()
    }

    /// Records after a key, in the order of keys, at most so many: for anyone who reads a table in parts.
    pub(in crate::store) fn records_after<R: DeserializeOwned>(
        &self,
        name: &'static str,
        after: Option<K>,
        rows_max: usize,
    ) -> Result<Vec<(K, R)>, StoreError>
    where
        K: for<'a> Value<SelfType<'a> = K>,
    {
        let begin = after.map_or(Bound::Unbounded, Bound::Excluded);
        let rows = self.range::<K>((begin, Bound::Unbounded))?;
        let rows = rows.take(rows_max).map(|row| {
            let (key, bytes) = row?;
            Ok((key.value(), decode(bytes.value(), name)?))
        });
        rows.collect()
    }
}

impl<'txn, K: Key + 'static, V: Value + 'static> LazyTable<&'txn WriteTransaction, K, V> {
    fn table_mut(&mut self) -> Result<&mut Table<'txn, K, V>, StoreError> {
        self.table()?;
        self.table.get_mut().ok_or(StoreError::Closed)
    }

    pub(in crate::store) fn insert<'k, 'v>(
        &mut self,
        key: impl Borrow<K::SelfType<'k>>,
        value: impl Borrow<V::SelfType<'v>>,
    ) -> Found<'_, V> {
        Ok(self.table_mut()?.insert(key, value)?)
    }

    pub(in crate::store) fn remove<'k>(
        &mut self,
        key: impl Borrow<K::SelfType<'k>>,
    ) -> Found<'_, V> {
        Ok(self.table_mut()?.remove(key)?)
    }

    pub(in crate::store) fn pop_first(&mut self) -> Row<'_, K, V> {
        Ok(self.table_mut()?.pop_first()?)
    }

    pub(in crate::store) fn retain(
        &mut self,
        is_kept: impl for<'f> FnMut(K::SelfType<'f>, V::SelfType<'f>) -> bool,
    ) -> Result<(), StoreError> {
        Ok(self.table_mut()?.retain(is_kept)?)
    }
}
