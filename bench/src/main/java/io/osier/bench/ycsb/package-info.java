/** The YCSB binding. */
package io.osier.bench.ycsb;
