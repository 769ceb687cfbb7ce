/** Observers of a client's calls that need a library which a program brings along. */
@NullMarked
package io.osier.proxy.observe;

import org.jspecify.annotations.NullMarked;
