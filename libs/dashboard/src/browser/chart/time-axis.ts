const clock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;

/** Labels of a time axis: as exact as the distance between two ticks, all in seconds, in the reader's zone. */
export function timeLabels(ticks: readonly number[], distance: number): readonly string[] {
  const options: Intl.DateTimeFormatOptions =
    distance >= 86_400 ? { month: "short", day: "numeric" } : distance >= 60 ? clock : { ...clock, second: "2-digit" };
  const format = new Intl.DateTimeFormat(undefined, options);
  return ticks.map((tick) => format.format(tick * 1000));
}
