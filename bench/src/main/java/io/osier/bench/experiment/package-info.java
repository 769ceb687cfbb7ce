/** The papers' experiments: alternatives under the same load, in turn in one run. */
@NullMarked
package io.osier.bench.experiment;

import org.jspecify.annotations.NullMarked;
