/**
 * A gauge that is computed per scrape, from a section `S` of the status. Its name, help and labels are the row of
 * docs/operate/metrics.md.
 */
export interface Measure<S> {
  /** Without the prefix `service_bot_`. */
  readonly name: string;
  readonly help: string;
  /** Absent for a single value. */
  readonly label?: string;
  /**
   * Returns the value, or one value per label value. NaN while the store does not respond. A gauge keeps its last value
   * if the new one is `undefined`.
   */
  readonly read: (section: S) => number | undefined | Readonly<Record<string, number>>;
}
