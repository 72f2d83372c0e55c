// Run in a throw-away fork, to learn which pages every job writes (worker/engine/host/hot_pages.h). Every fork pays for
// each page that this job touches, so it does what all programs do and nothing more.
return input.a + input.b;
