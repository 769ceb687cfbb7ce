/** What durability, recovery, contention and memory cost: osier bench storage. */
@NullMarked
package io.osier.bench.storage;

import org.jspecify.annotations.NullMarked;
