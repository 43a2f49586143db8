"use strict";
(() => {
  const LONGEST_WAIT = 2000, SHORTEST_WAIT = 150;
  const moments = [...document.querySelectorAll("#moments li")].map((item) => ({at: Number(item.dataset.at), says: item.textContent}));
  if (!moments.length) return;
  const find = (id) => document.getElementById(id);
  const slider = find("slider"), caption = find("caption"), clock = find("clock"), play = find("play"), speed = find("speed");
  const later = [...document.querySelectorAll("[data-from]")];
  const pictures = [...document.querySelectorAll("#screen figure")];
  const steps = [...document.querySelectorAll("#log > article")];
  const session = find("session");
  let now = moments.length - 1, timer = null;

  const show = (number, follow) => {
    now = Math.max(0, Math.min(moments.length - 1, number));
    slider.value = String(now);
    caption.textContent = moments[now].says;
    const seconds = (moments[now].at - moments[0].at) / 1000;
    clock.textContent = `${now + 1}/${moments.length} · +${seconds.toFixed(1)} s`;
    for (const each of later) each.classList.toggle("later", Number(each.dataset.from) > now);
    let seen = null;
    for (const each of pictures) { each.hidden = true; if (Number(each.dataset.at) <= now) seen = each; }
    if (seen) seen.hidden = false;
    find("none").hidden = Boolean(seen);
    let current = null;
    for (const each of steps) { each.classList.remove("now"); if (Number(each.dataset.from) <= now) current = each; }
    if (current) { current.classList.add("now"); if (follow) current.scrollIntoView({block: "nearest"}); }
    session.scrollTop = session.scrollHeight;
  };
  const stop = () => { clearTimeout(timer); timer = null; play.textContent = play.dataset.play; };
  const wait = () => {
    if (now >= moments.length - 1) return stop();
    const gap = Math.max(SHORTEST_WAIT, Math.min(LONGEST_WAIT, moments[now + 1].at - moments[now].at));
    timer = setTimeout(() => { show(now + 1, true); wait(); }, gap / Number(speed.value));
  };
  play.addEventListener("click", () => {
    if (timer) return stop();
    if (now >= moments.length - 1) show(0, true);
    play.textContent = play.dataset.pause;
    wait();
  });
  slider.max = String(moments.length - 1);
  slider.addEventListener("input", () => { stop(); show(Number(slider.value), true); });
  find("back").addEventListener("click", () => { stop(); show(now - 1, true); });
  find("on").addEventListener("click", () => { stop(); show(now + 1, true); });
  for (const each of steps) each.addEventListener("click", () => { if (!String(getSelection())) { stop(); show(Number(each.dataset.last), false); } });
  find("player").hidden = false;
  show(now, false);
})();
