package io.osier.datacenter.store;

/**
 * Statistics of the database on the disk. Counts are since it was opened.
 *
 * @param tableBytes bytes of the tables' files
 * @param memtableBytes bytes in memory that are not in a table yet
 * @param blockCacheBytes bytes in the cache of tables' blocks
 * @param blockCacheHits blocks that were found in it
 * @param blockCacheMisses blocks that were not
 * @param levelZeroFiles tables that were not merged yet; many of them slow reads, and then writes
 * @param compactionPendingBytes bytes that compaction must rewrite until the tree is in shape
 * @param compactionsRunning compactions that are running
 * @param compactionReadBytes bytes that compactions have read
 * @param compactionWrittenBytes bytes that compactions have written
 * @param tombstonesMet tombstones that walks have gone through, where there were many
 * @param gapCompactions compactions that were made to remove such tombstones
 * @param flushedBytes bytes that were written from memory to tables
 * @param logBytes bytes that were written to the write-ahead log
 * @param logSyncs how often the log was synchronised with the disk
 * @param stallMicros how long writes had to wait for compaction, in microseconds
 * @param writesStopped whether writes wait for compaction now
 */
public record StoreStatistics(
    long tableBytes,
    long memtableBytes,
    long blockCacheBytes,
    long blockCacheHits,
    long blockCacheMisses,
    long levelZeroFiles,
    long compactionPendingBytes,
    long compactionsRunning,
    long compactionReadBytes,
    long compactionWrittenBytes,
    long tombstonesMet,
    long gapCompactions,
    long flushedBytes,
    long logBytes,
    long logSyncs,
    long stallMicros,
    boolean writesStopped) {}
