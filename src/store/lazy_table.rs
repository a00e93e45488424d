//! A table of the writer's transaction that is opened when it is first used. There are many tables and a job needs few
//! of them; opening and closing each costs more than a record.

use std::borrow::Borrow;
use std::cell::OnceCell;
use std::ops::RangeBounds;

use redb::{
    AccessGuard, Key, Range, ReadableTable as _, ReadableTableMetadata as _, Table,
    TableDefinition, Value, WriteTransaction,
};

use crate::store::StoreError;

pub(in crate::store) struct LazyTable<'txn, K: Key + 'static, V: Value + 'static> {
    transaction: &'txn WriteTransaction,
    definition: TableDefinition<'static, K, V>,
    table: OnceCell<Table<'txn, K, V>>,
}

type Found<'a, V> = Result<Option<AccessGuard<'a, V>>, StoreError>;
type Row<'a, K, V> = Result<Option<(AccessGuard<'a, K>, AccessGuard<'a, V>)>, StoreError>;

impl<'txn, K: Key + 'static, V: Value + 'static> LazyTable<'txn, K, V> {
    pub(in crate::store) fn new(
        transaction: &'txn WriteTransaction,
        definition: TableDefinition<'static, K, V>,
    ) -> Self {
        LazyTable {
            transaction,
            definition,
            table: OnceCell::new(),
        }
    }

    fn table(&self) -> Result<&Table<'txn, K, V>, StoreError> {
        if let Some(table) = self.table.get() {
            return Ok(table);
        }
        let table = self.transaction.open_table(self.definition)?;
        Ok(self.table.get_or_init(|| table))
    }

    fn table_mut(&mut self) -> Result<&mut Table<'txn, K, V>, StoreError> {
        self.table()?;
        self.table.get_mut().ok_or(StoreError::Closed)
    }

    pub(in crate::store) fn get<'k>(&self, key: impl Borrow<K::SelfType<'k>>) -> Found<'_, V> {
        Ok(self.table()?.get(key)?)
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
