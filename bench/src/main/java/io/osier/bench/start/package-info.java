/** How long the distribution takes to start. */
package io.osier.bench.start;
