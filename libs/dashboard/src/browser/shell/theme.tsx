import { useLayoutEffect, useState } from "preact/hooks";
import { Icon, type IconName } from "../parts/icon.tsx";

type Theme = "system" | "light" | "dark";

const next: Readonly<Record<Theme, Theme>> = { system: "light", light: "dark", dark: "system" };
const icons: Readonly<Record<Theme, IconName>> = { system: "system", light: "sun", dark: "theme" };
const KEY = "evenkeel-theme";

function kept(): Theme {
  try {
    const text = localStorage.getItem(KEY);
    return text === "light" || text === "dark" ? text : "system";
  } catch {
    // Storage is refused in some frames and modes; the choice then lasts as long as the page.
    return "system";
  }
}

/** Cycles through system, light and dark. Charts follow the event `themechange` on the window. */
export function ThemeSwitch() {
  const [theme, setTheme] = useState(kept);
  useLayoutEffect(() => {
    if (theme === "system") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = theme;
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // As above.
    }
    dispatchEvent(new Event("themechange"));
  }, [theme]);
  const label = `Colours: ${theme}. Switch to ${next[theme]}`;
  return (
    <button type="button" class="plain round" aria-label={label} title={label} onClick={() => setTheme(next[theme])}>
      <Icon name={icons[theme]} />
    </button>
  );
}
