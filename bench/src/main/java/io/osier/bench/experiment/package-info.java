/** The papers' experiments: alternatives under the same load, in turn in one run. */
package io.osier.bench.experiment;
