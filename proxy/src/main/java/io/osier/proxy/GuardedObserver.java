package io.osier.proxy;

/** Tells an application's observer of calls: what it throws harms no call. Thread-safe. */
final class GuardedObserver implements ClientObserver {
  private final ListenerGuard guard = new ListenerGuard("the observer of the client's calls");
  private final ClientObserver observer;

  private GuardedObserver(ClientObserver observer) {
    this.observer = observer;
  }

  /** What tells the observer; {@link ClientObserver#NONE} stays what it is. */
  static ClientObserver of(ClientObserver observer) {
    return observer == NONE ? NONE : new GuardedObserver(observer);
  }

  @Override
  public Observed begins(String keyspace, boolean update) {
    try {
      Observed observed = observer.begins(keyspace, update);
      return (datacenter, error) -> guard.tell(() -> observed.ended(datacenter, error));
    } catch (RuntimeException e) {
      guard.threw(e);
      return IGNORED;
    }
  }
}
