/** A wide-area network on loopback. */
package io.osier.bench.wan;
