// Scales a picture until it fills the screen in one direction and nothing is cut off. Layout depends
// on the scale (lines wrap), so the largest scale that fits is looked for, not computed.

const SCALE_MIN = 0.3;
const SCALE_MAX = 2.4;
const STEPS = 9; // halvings: finer than a pixel on any monitor

export function largestScale(fits) {
  let low = SCALE_MIN;
  let high = SCALE_MAX;
  for (let step = 0; step < STEPS; step += 1) {
    const middle = (low + high) / 2;
    if (fits(middle)) low = middle;
    else high = middle;
  }
  fits(low);
  return low;
}

export function fitBoard(board) {
  const style = document.documentElement.style;
  largestScale((scale) => {
    style.setProperty("--scale", String(scale));
    return isWithin(board, 0.985);
  });
}

// The win is scaled by itself: it has other lines every time, and the board must not move for it.
export function fitPicture(picture) {
  largestScale((scale) => {
    picture.style.setProperty("--picture", String(scale));
    return isSmaller(picture, 0.9);
  });
}

function isWithin(element, share) {
  return element.scrollWidth <= element.clientWidth + 1 && isSmaller(element, share);
}

function isSmaller(element, share) {
  const box = element.getBoundingClientRect();
  return box.width <= innerWidth * share && box.height <= innerHeight * share;
}
