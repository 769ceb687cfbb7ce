/** Those who have programs done in the simulator, and look at what these have done. */
@NullMarked
package io.osier.bench.sim.program;

import org.jspecify.annotations.NullMarked;
