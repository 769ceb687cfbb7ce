/**
 * The systems under load: datacenter processes, and the systems that Osier is compared with. This
 * package starts them, makes calls at them and reads their counters; the runner decides when.
 */
@NullMarked
package io.osier.bench.systems;

import org.jspecify.annotations.NullMarked;
