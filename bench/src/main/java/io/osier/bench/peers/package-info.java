/** The same load on Osier's embedded form and on other stores of CRDTs for the JVM. */
package io.osier.bench.peers;
