/**
 * The datacenters as they run. {@code SimDc} is one datacenter from start to crash, with its clock
 * and its disk, {@code DcTransport} what joins it with the others. {@code SimNode} is one of its
 * partitions: {@code FrontDoor} in front of it, {@code NodeLoop} as its thread, {@code
 * WatchedStore} below it, and {@code WitnessedMachine} around it, which shows what it does to the
 * checks. {@code SimFrames} carries what partitions send to each other.
 */
@NullMarked
package io.osier.bench.sim.node;

import org.jspecify.annotations.NullMarked;
