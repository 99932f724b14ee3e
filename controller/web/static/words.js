// The words people read; the browser's copy of controller/web/words.py.

export const STATES = {
  open: "Open for bets",
  locked: "Bets locked",
  claim: "Win entry",
  confirm: "Confirm the win",
  offline: "Offline",
  fault: "Fault",
  closed: "Closed",
};

export const LIGHTS = {
  off: "",
  detected: "Chip",
  accepted: "Bet in",
  refused: "Refused",
  late: "Late",
  winner: "Winner",
  fault: "Fault",
  find: "Here",
};

export const MESSAGE_KINDS = { info: "", refused: "Not accepted", fault: "Fault" };
