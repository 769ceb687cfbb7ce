/** The words in which people name objects, values and what is to be done with them. Pure. */
@NullMarked
package io.osier.datacenter.words;

import org.jspecify.annotations.NullMarked;
