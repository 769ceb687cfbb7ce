/**
 * Objects that are too large for a frame and are asked for in pages: who was asked, what came, when
 * to ask again. It decides nothing about visibility.
 */
@NullMarked
package io.osier.propagation.pull;

import org.jspecify.annotations.NullMarked;
