/** To be written. */
export function State() {
  return <h1>State</h1>;
}
