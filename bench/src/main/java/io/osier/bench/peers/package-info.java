/** The same load on Osier's embedded form and on other stores of CRDTs for the JVM. */
@NullMarked
package io.osier.bench.peers;

import org.jspecify.annotations.NullMarked;
