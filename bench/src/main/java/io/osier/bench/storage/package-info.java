/** What durability, recovery, contention and memory cost: osier bench storage. */
package io.osier.bench.storage;
