package io.osier.propagation;

import io.osier.core.VersionVector;
import io.osier.propagation.host.DelayHistogram;
import io.osier.propagation.host.Timeliness;
import io.osier.propagation.send.LagMeter;
import io.osier.propagation.wire.Frame;
import java.util.Map;

/**
 * A peer's progress.
 *
 * @param incarnation 0 if the peer was never heard
 * @param connected whether frames can be sent to it
 * @param stream the mode of the stream to it: waiting, catching-up or streaming
 * @param lag how far it is behind this datacenter, as far as its status says
 * @param timeliness whether it gets this datacenter's updates in time
 * @param inFlightBytes bytes that were sent and not acknowledged
 * @param sentBytes bytes of updates that were sent to it, by the kind of the frame
 * @param roundTimes how long rounds took until it had acknowledged them
 * @param has the number up to which it has every replica's updates, by its last status, even if it
 *     is not connected now
 * @param behindUpdates the number of its updates that have not arrived here
 * @param unheardNanos for how long nothing was received from it although something should have been
 * @param aheadMillis by how many milliseconds its clock is ahead of the one here, at least
 */
public record PeerProgress(
    String dc,
    long incarnation,
    boolean connected,
    String stream,
    LagMeter.Lag lag,
    Timeliness timeliness,
    long inFlightBytes,
    Map<Frame.Kind, Long> sentBytes,
    DelayHistogram roundTimes,
    VersionVector has,
    long behindUpdates,
    long unheardNanos,
    long aheadMillis) {}
