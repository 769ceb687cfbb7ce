package io.osier.bench.container;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Tests that start containers of the image. Where no engine can be reached they are skipped, and
 * {@link SkippedContainerTests} names them; with OSIER_CONTAINERS=required they fail instead.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Tag("container")
@ExtendWith(EngineCondition.class)
@interface NeedsEngine {}
