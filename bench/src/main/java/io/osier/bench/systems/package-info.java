/**
 * What the load runner puts under load: datacenter processes, and the systems that Osier is
 * compared with. Here they are started, called and asked what they took; who calls when is the
 * runner's.
 */
@NullMarked
package io.osier.bench.systems;

import org.jspecify.annotations.NullMarked;
