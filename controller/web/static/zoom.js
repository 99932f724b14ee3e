// Text follows the browser's zoom: the panel's picture is made for the whole window, and would
// otherwise shrink by as much as the browser enlarges it. Framed in another page it keeps to its frame.

const NOT_ZOOM = 1.08; // a window has borders
const ZOOM_MAX = 4;

export function followZoom() {
  addEventListener("resize", apply);
  apply();
}

function apply() {
  const ratio = window.parent === window ? outerWidth / innerWidth : 1;
  const zoom = ratio < NOT_ZOOM ? 1 : Math.min(ratio, ZOOM_MAX);
  document.documentElement.style.setProperty("--zoom", String(zoom));
  document.documentElement.dataset.zoomed = zoom === 1 ? "no" : "yes";
}
