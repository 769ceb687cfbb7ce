/** The command line of a datacenter: {@code osier server} and {@code osier cli}. */
@NullMarked
package io.osier.datacenter.cli;

import org.jspecify.annotations.NullMarked;
