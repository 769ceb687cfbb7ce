/** Three datacenters, a load, a cut link and a proof: {@code osier demo}. */
@NullMarked
package io.osier.bench.demo;

import org.jspecify.annotations.NullMarked;
