/** The YCSB binding. */
@NullMarked
package io.osier.bench.ycsb;

import org.jspecify.annotations.NullMarked;
