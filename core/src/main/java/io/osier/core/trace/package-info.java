/**
 * Which updates traces follow, and what an update's trace is called: functions of names and
 * numbers, so that whoever knows an update knows its trace. Knows nothing of who writes traces
 * down.
 */
@NullMarked
package io.osier.core.trace;

import org.jspecify.annotations.NullMarked;
