module barnabas/test/chaos

go 1.26.0
