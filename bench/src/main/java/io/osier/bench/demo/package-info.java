/** Three datacenters, a load, a cut link and a proof: {@code osier demo}. */
package io.osier.bench.demo;
