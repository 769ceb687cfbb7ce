/**
 * The commands of the {@code osier} launcher, one class each, with their arguments. The commands of
 * {@code osier cli}'s shell are in {@code cli.session}.
 */
@NullMarked
package io.osier.datacenter.cli.command;

import org.jspecify.annotations.NullMarked;
