/** Programs around Osier: the launcher's commands, the demo, YCSB, the simulator, benchmarks. */
@NullMarked
package io.osier.bench;

import org.jspecify.annotations.NullMarked;
