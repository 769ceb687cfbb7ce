/** Programs around Osier: the launcher's commands, the demo, YCSB, the simulator, benchmarks. */
package io.osier.bench;
