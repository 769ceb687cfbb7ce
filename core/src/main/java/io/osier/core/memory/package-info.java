/**
 * The heap as a resource: how many bytes things take in it ({@code HeapSize}), what something may
 * hold at most ({@code Budget}), and what is done when there is none left ({@code OutOfMemory}).
 * Nothing here knows what it is that takes the bytes.
 */
@NullMarked
package io.osier.core.memory;

import org.jspecify.annotations.NullMarked;
