/**
 * Which objects are hot, and which of them pay as states. Pure and single-threaded: it is fed
 * observations with their times and asked for decisions.
 */
package io.osier.adaptation;
