/** Observers of a client's calls, each for a library that the program must bring along. */
@NullMarked
package io.osier.proxy.observe;

import org.jspecify.annotations.NullMarked;
