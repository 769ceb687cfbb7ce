/**
 * The programs of the command line, one class a command: what each does and which arguments it
 * takes. The words of the shell are in {@code cli.session}.
 */
@NullMarked
package io.osier.datacenter.cli.command;

import org.jspecify.annotations.NullMarked;
